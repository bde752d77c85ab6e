"""`python -m callgate_worker`: descriptor 0 is the socket on which the host sends the rest."""

from callgate_worker.main import main

main()
