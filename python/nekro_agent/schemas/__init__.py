"""The data types of messages, contexts and signals."""
