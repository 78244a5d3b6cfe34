"""Training starts on command lines: who launches what with which flags, which reader serves it, what it names."""

from loralint.frameworks.launch.naming import references as references
from loralint.frameworks.launch.serving import guessed as guessed
from loralint.frameworks.launch.serving import reader_for as reader_for
from loralint.frameworks.launch.serving import reader_of as reader_of
from loralint.frameworks.launch.serving import watched as watched
from loralint.frameworks.launch.start import launches as launches
from loralint.frameworks.launch.strict import accepted as accepted
