"""The process that hosts Python plugins on the trusted side. Standard library only.

`host` is what plugin packages use to reach the host, `flavour` is what they implement; the rest is
the channel between the two processes and what keeps one plugin from taking the others down.
"""
