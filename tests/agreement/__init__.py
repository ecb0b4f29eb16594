"""Measure how far JSON Schemas and marshmallow agree: ours, and those of two other converters, on one catalogue."""
