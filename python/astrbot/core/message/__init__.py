"""Message components and chains."""
