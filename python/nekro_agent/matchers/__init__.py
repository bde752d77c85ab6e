"""Where commands of OneBot plugins stood in older versions of Nekro Agent."""
