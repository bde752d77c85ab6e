"""The OneBot V11 platform: its names import everywhere, its bot is there where it is connected."""
