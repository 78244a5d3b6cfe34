"""What loralint knows of the world (GPUs, models, releases, optimizers), loaded lazily and in parts."""
