"""How a measurement is taken: the sampling loop, its statistics, the memory and energy passes, the passport."""
