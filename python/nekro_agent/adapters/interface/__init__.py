"""What a platform is to plugins."""
