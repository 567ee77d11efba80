# man.awk - writes the examples of a manual page, each as a shell script:
#
#	awk -v dir=DIR -f man.awk PAGE ...
#
# makes DIR/PAGE.N.sh. Each `.Bd -literal' block of the section EXAMPLES is a
# script of its own; of a subsection of TUTORIAL all of them together are one.
# What is only to be looked at stands in `.Bd -unfilled'.

FNR == 1 {
	page = FILENAME
	sub(/.*\//, "", page)
	n = 0
}
/^\.S[hs] / {
	section = $1 == ".Sh" ? $2 : section
	fresh = 1
}
/^\.Bd -literal/ && (section == "EXAMPLES" || section == "TUTORIAL") {
	if (fresh || section == "EXAMPLES") {
		if (out != "")
			close(out)
		out = sprintf("%s/%s.%02d.sh", dir, page, ++n)
		printf "" >out
		fresh = 0
	}
	inside = 1
	next
}
/^\.Ed/ { inside = 0 }
inside {
	gsub(/\\&/, "")
	gsub(/\\e/, "\\")
	print >>out
}
