"""Small helpers that plugins import: paths, downloads, images."""
