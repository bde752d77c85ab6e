"""Knowledge bases are not offered here; the manager says so when it is used."""
