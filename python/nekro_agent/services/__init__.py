"""What plugins import beyond the API."""
