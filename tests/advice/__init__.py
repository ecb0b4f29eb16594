"""Advice on what is served."""
