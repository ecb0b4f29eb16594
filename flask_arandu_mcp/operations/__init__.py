"""The app's own operations as tools."""
