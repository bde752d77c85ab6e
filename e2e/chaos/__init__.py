"""`make chaos`: the whole product under faults, watched from outside."""
