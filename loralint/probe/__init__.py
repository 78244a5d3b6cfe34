"""Seconds of micro-training that say whether a run's numbers hold together; needs the extra `probe`.

`plan` turns a config into an `Arm`, the numbers of one run; `stack` trains many arms over one frozen base at once;
`ramp` and `course` are what they are put through; `verdict` and `diagnosis` read the outcome. Torch is imported by the
modules that train and by nothing else in this project.
"""
