# Turns the pipe tables of Markdown into HTML tables. cmark leaves a table as one paragraph, a line for each
# row, with the text of the cells rendered. A cell contains no "|".
function row(tag,  cells, n, i, out) {
    n = split($0, cells, / *\| */)
    for (i = 2; i < n; i++) out = out "<" tag ">" cells[i] "</" tag ">"
    return "<tr>" out "</tr>"
}
sub(/^<p>\|/, "|") { table = 1; print "<table>"; print row("th"); next }
table && /^[-| ]+$/ { next }
table {
    last = sub(/<\/p>$/, "")
    print row("td")
    if (last) { print "</table>"; table = 0 }
    next
}
{ print }
