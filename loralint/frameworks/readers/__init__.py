"""One reader per framework: a table of keys and fields, read both ways; imported only when such a file is met."""
