"""The example's pages in a real browser, headless Chromium, over gunicorn with two workers."""
