"""Select, run, suppress, baseline, score and gate: from paths to a Report."""
