"""Makes the model catalogue from the classes of Transformers and Diffusers, without weights: for tools and tests."""
