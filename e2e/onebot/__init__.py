"""OneBot v11 as its people meet it: an implementation on the QQ side, a scripted hour of everything it can say, and
the frameworks that are given the same hour. `python3 -m onebot` in the folder above is the way in."""
