"""Serve the Model Context Protocol from a Flask app, through the policies that the app already has."""
