# Shortens `go test -v`: a line for each package that passed, the whole output of each that didn't. go test prints one
# package after the other, so what stands before a closing line belongs to it.

/^(ok|\?) *\t/ || /^\t.*coverage: / { print; fflush(); held = ""; next }
/^FAIL\t/                           { printf "%s%s\n", held, $0; fflush(); held = ""; next }
                                    { held = held $0 "\n" }

# What no package closed: servers that didn't start, a build that broke, make's own last word.
END { printf "%s", held }
