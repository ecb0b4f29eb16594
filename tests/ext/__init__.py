"""Tests of the parts that need a library of their own, with that library."""
