"""Tests of the app's own operations as tools."""
