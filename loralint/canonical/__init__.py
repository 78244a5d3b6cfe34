"""The one vocabulary that readers translate into and rules speak: see `fields`."""
