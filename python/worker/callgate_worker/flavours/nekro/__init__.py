"""Plugins written for Nekro Agent: how they load, and the steps they answer."""

from callgate_worker.flavours.nekro.flavour import Nekro

FLAVOUR = Nekro()
