"""The admission webhook: reviews of a Kubernetes API server in, verdicts of the same engine out."""
