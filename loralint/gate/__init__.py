"""The gate of a change: what is new against its base, judged in both trees, under the policy of the base.

It asks git and ssh-keygen, so it stands beside the command line and not below it; what it decides by lies in
`loralint.engine` (ratchet, approval, signers, reviews, owners) and is pure.
"""
