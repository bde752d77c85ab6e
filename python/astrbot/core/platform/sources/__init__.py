"""Event classes of platforms. All import; objects of them exist only where the host speaks that platform."""
