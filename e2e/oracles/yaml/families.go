package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
)

// scalars are plain scalars that some reader takes for something else than text.
var scalars = []string{
	"y", "Y", "yes", "Yes", "YES", "yEs", "n", "N", "no", "No", "NO", "nO", "true", "True", "TRUE", "tRue",
	"false", "False", "FALSE", "on", "On", "ON", "oN", "off", "Off", "OFF", "~", "null", "Null", "NULL", "nUll",
	"0", "-0", "+0", "1", "-1", "+1", "007", "0777", "08", "0o17", "0O17", "0o8", "0x1F", "0X1f", "-0x1F", "0xg",
	"0b101", "0B101", "-0b101", "0b2", "0b", "0x", "0o", "0b-1", "0b+1", "-0b-1", "1_000", "1__0", "_1", "1_", "0_7",
	"0x_1", "0b1_0", "12345678901", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"-9223372036854775809", "18446744073709551615", "18446744073709551616", "+18446744073709551615",
	"0xffffffffffffffff", "0x1ffffffffffffffff", "123456789012345678901234567890", "1.0", "1.", ".5", "-.5", "+.5",
	".", "..", "-", "--", "-.", "+", "1.5e3", "1e3", "1E3", "1e+3", "1e-3", "1e", "1e400", "-1e400", "1e-400",
	"1.5.2", "1_0.5", ".5_0", "._5", ".5_", ".5e1_0", "0.1", "0.30000000000000004", "1e21", "1e20", "1.0e-7",
	"123456.789", "1234567.0", "16777217.0", "3.4e39", "1e-46", "-0.0", "08.5", ".inf", "-.inf", "+.inf", ".Inf",
	".INF", ".iNf", ".nan", ".NaN", ".NAN", "inf", "nan", "infinity", "0x1p-2", "1:30", "190:20:30", "190:20:30.15",
	"2001-12-14", "2001-1-2", "2001-13-01", "2001-02-30", "2001-12-14T21:59:43Z", "2001-12-14t21:59:43.10-05:00",
	"2001-12-14 21:59:43.10 -5", "2001-12-14 21:59:43", "2001-12-14T21:59Z", "20011214", "=", "<<", "<", ">a", "aGk=",
	"aGk", "a b", "a#b", "a:b", "::", ":a", "-a", "?a", "a?", "@a", "%a", "`a", "!", "&", "*", "&a", "*a", "|", ">",
	"1 2", "é", "日本", "😀", "a\\n", "\\", "/", "1,000", "0.0.0", "v1", "1d", "0xCAFE", "1e3_0", "1_e3", "5.e2",
	"e5", "+e5", "00", "000", "-00", "-07", "-08", "0.", "00.5", "1e5", "9007199254740993", "9007199254740993.0",
	"2001-12-14T21:59:43.10Z", "2001-12-14 21:59:43,5", "2001-12-14 21:59:43.", "2001-12-14 21:59:43.123456789012", "2001-12-14 21:59:60", "2001-12-14T24:00:00Z", "2001-12-14T1:2:3+24:60", "2001-12-14T1:2:3-25:00", "2000-02-29", "1900-02-29", "2004-02-29",
	"0000-01-01", "2001-1-2T3:4:5Z", "2001-12-14   21:59:43", "2001-12-14T21:59:43", "2001-12-14T21:59:43z", "2001-12-14T21:59:43+0500", "2001-12-14T21:59:43+05", "2001-12-141", "2001-123-1", "2001--1-1", "2001-12-14T21:59:43.Z", "20011-12-14", "201-12-14",
	"2001-00-10", "2001-01-00", "2001-01-32", "2001-04-31", "2001-12-14T", "2001-12-14t21:59:43", "2001-12-14 21:59", "2001-12", "2001-12-", "2001-", "2001-12-14Z", "2001-12-14 21:59:43Z", "2001-12-14T21:60:43Z", "2001-012-14", "+2001-12-14", "2001-1-1T1:1:1.5-01:30",
	"1:60", "1:5:5", "1_0:30", "+1:30", "-1:30.5_", "1:30.", "1:", ":30", "1:300", "a1:30", "1::30", "1:3x",
}

var tags = []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!binary", "!!timestamp", "!foo", "!", "!!set"}

// readFamilies are documents for the reader.
func readFamilies(random int, seed int64) []string {
	var texts []string
	for _, s := range scalars {
		texts = append(texts,
			"a: "+s, s, "- "+s, "["+s+"]", "{a: "+s+"}", "{"+s+": 1}", s+": 1", "? "+s+"\n: 1", "a: '"+s+"'",
			"a: \""+s+"\"", "'"+s+"': 1", "a: "+s+" # c", "a:\n  "+s+"\nb: 1", "a: |\n  "+s+"\n", "a: "+s+"\t", "a: "+s+"\r\nb: 1\r\n")
		for _, tag := range tags {
			texts = append(texts, "a: "+tag+" "+s)
		}
		texts = append(texts, "a: !!int '"+s+"'", "a: !!float \""+s+"\"", "!!str "+s+": 1")
	}
	texts = append(texts, blockScalars()...)
	texts = append(texts, characters()...)
	return append(texts, randomTexts(random, seed)...)
}

// blockScalars varies header, indentation and blank lines.
func blockScalars() []string {
	var texts []string
	bodies := []string{
		"", "x\n", "x", "  x\n", "  x", "  x\n\n", "  x\n\n\n", "  x\n   y\n", "   x\n  y\n", "\n  x\n", "\n\n  x\n  y\n",
		"  x\n\n  y\n", "  x\n\n\n  y\n", "  x\n   y\n  z\n", "  x\n\n   y\n\n  z\n", "\tx\n", "  \tx\n", "  x\t\n", "    \n  x\n",
		"  x\n    \n  y\n", "  # c\n  x\n", "  x # c\n", "  x\n# c\n", "  x\n # c\n", "  ---\n", "  x\n---\n", "  x\r\n  y\r\n", "  x\nb: 1\n",
	}
	for _, header := range []string{"|", ">", "|-", ">-", "|+", ">+", "|2", ">1", "|2-", "|-2", "|+1", "|0", "|10", "| # c", "|#c", "|x", ">9", "|--"} {
		for _, body := range bodies {
			texts = append(texts, "a: "+header+"\n"+body, "- "+header+"\n"+body)
		}
	}
	return texts
}

// characters puts rare characters and escapes into every kind of scalar.
func characters() []string {
	var texts []string
	for _, c := range []string{
		"\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x7f", "\u0080", "\u0085", "\u009f", "\u00a0", "\u2028", "\u2029",
		"\u200b", "\ufeff", "\ufffd", "\ufffe", "\uffff", "\U0001f600", "\U0010ffff", "\t", "\r", "\n", " ", "\r\n", "\n\n", " \n ", "\n\t", "\t\n",
		"\u0085\u0085", "\n\u2028", "\u2028\n", "\r\r", "\n \n\n ",
	} {
		texts = append(texts, "a: x"+c+"y", "a: 'x"+c+"y'", "a: \"x"+c+"y\"", "a: |\n  x"+c+"y\n", "a: >\n  x"+c+"y\n", "x"+c+"y: 1",
			"["+c+"a]", "a"+c+": 1", "a:"+c+"1", "# "+c+"\na: 1", c+"a: 1", "a: 1"+c, "a: 1\n"+c+"b: 2", "a: \"x"+c, "- "+c+"a: 1", "a:\n  b: 1\n"+c+"c: 2")
	}
	for _, e := range []string{
		"0", "a", "b", "t", "\t", "n", "v", "f", "r", "e", " ", "\"", "'", "/", "\\", "N", "_", "L", "P", "x41", "x4", "xZZ", "u00e9", "u12",
		"ud800", "udfff", "ud83d\\ude00", "U0001F600", "U00110000", "U7fffffff", "Uffffffff", "q", "\n", "\n  ", "\n\n  ", "x00", "x85", "uFEFF", "uffff", "xff",
	} {
		texts = append(texts, "a: \"x\\"+e+"y\"", "a: 'x\\"+e+"y'", "\"\\"+e+"\": 1", "a: \"  \\"+e+"  \"")
	}
	for _, length := range []int{1, 120, 128, 1015, 1018, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 2000} {
		key := strings.Repeat("k", length)
		texts = append(texts, key+": 1", "{"+key+": 1}", "'"+key+"': 1", "? "+key+"\n: 1", "a: {"+key+": 1}", "["+key+": 1]", strings.Repeat("é", length)+": 1", "a: ["+key+"]")
	}
	return texts
}

var pieces = []string{
	"a", "b: ", "c:", "- ", "-", "\n", "\n", "\n ", "\n  ", "\n    ", " ", "[", "]", "{", "}", ", ", ",", ": ", ":", "? ", "?", "&x ", "*x", "*x ", "!t ",
	"!!str ", "!!int ", "!", "|\n", ">\n", "|-\n  ", "'", "\"", "\"q\"", "'q'", "# c\n", "#", "\t", "---\n", "...\n", "--- ", "%YAML 1.1\n", "%TAG ! tag:x,1:\n",
	"<<: ", "1", "1.5", "null", "~", "true", "a: 1\n", "b: 2\n", "- a\n", "- b: 1\n", "  c: 3\n", "\r\n", "\\", "@", "%", "`", "é", "a b", "{a: 1}", "[1, 2]", "&x {a: 1}\n", "*x\n", "<<: *x\n", "<<: [*x, {b: 3}]\n",
}

// randomTexts joins pieces at random: most are nonsense, and the two readers must agree on which.
func randomTexts(count int, seed int64) []string {
	random := rand.New(rand.NewSource(seed))
	texts := make([]string, 0, count)
	for range count {
		var text strings.Builder
		for range 2 + random.Intn(12) {
			text.WriteString(pieces[random.Intn(len(pieces))])
		}
		texts = append(texts, text.String())
	}
	return texts
}

// streamFamilies are streams of documents.
func streamFamilies(random int, seed int64) []string {
	var texts []string
	separators := []string{
		"---\n", "--- # c\n", "---   \n", "---\t\n", "---#c\n", "--- a: 1\n", "---a\n", "----\n", "---\r\n", "--- |\n", " ---\n", "...\n", "...\n---\n", "---\n---\n",
		"---\n# c\n---\n", "\n---\n\n", "---\n\n---\n", "--- \u00a0\n", "---\u2028\n", "---",
	}
	for _, s := range separators {
		texts = append(texts, s, s+"a: 1\n", "a: 1\n"+s, "a: 1\n"+s+"b: 2\n", s+"a: 1\n"+s+"b: 2\n"+s, "a: 1"+s+"b: 2", "# c\n"+s+"a: 1\n", "a: |\n  x\n"+s+"  y\n",
			"a: \"x\n"+s+"y\"\n", "{\"a\": 1}\n"+s+"{\"b\": 2}\n", "- 1\n"+s+"- 2\n", "a: 1\r\n"+s+"b: 2\r\n", "\ufeff"+s+"a: 1\n", "a: [\n"+s+"]\n")
	}
	parts := []string{"---\n", "---\n", "--- # c\n", "# c\n", "\n", "a: 1\n", "b: 2\n", "- x\n", "...\n", "null\n", "~\n", "{\"a\": 1}\n", "{}\n", "[]\n", "  \n", "a: |\n  x\n", "text\n", "\"q\"\n", "---\r\n", "a: 1\r\n", "%YAML 1.1\n"}
	source := rand.New(rand.NewSource(seed))
	for range random {
		var text strings.Builder
		for range 1 + source.Intn(8) {
			text.WriteString(parts[source.Intn(len(parts))])
		}
		texts = append(texts, text.String())
	}
	return texts
}

// awkward are fragments that need quotes, or look as if they did.
var awkward = []string{
	"", " ", "  ", "\n", "\n\n", "\t", ":", ": ", " :", "#", " #", "# ", "-", "- ", "--", "---", "--- a", "...", "?", "? ", "?a", ",", "[", "]", "{", "}", "&", "*", "!", "|", ">", "'", "\"", "%", "@", "`",
	"=", "<<", "~", "\\", "a\nb", "a\n", "a\n\n", "\na", " a\n", "a \nb", "a\n b", "a\n b\n", "a\n\nb\n", "\r", "\r\n", "a\rb", "\x00", "\x07", "\x1b", "\u00a0", "\u00e9", "\u2028", "a\u2028b", "a\u2028 b", "a \u2028b", "a\n\u2028b",
	"\u2029", "\ufeff", "\ufeffab", "a\ufeff", "\ufffd", "\U0001f600", "日本", "a'b", "a\"b", "'a'", "\"a\"", "a: b", "a #b", "a#b", "a:", "a:b", ":a", "-a", "a,b", "a]", "[a]", "{a}", "{{a}}", "a?", "a{", "!a", "%a", "a%", "@a",
	"<<: a", "a <<", "\u00ad", "\u200b", "\ue000", "\ud7ff", "\ufdd0", "key\n: a", "? a\n", "a\n\u2028\n", "\u2028", "a\u2028", "\u2028a", "a\n ", " \na", "\n\na", "a\u00a0b", "a\n\u00a0\n",
	"a\tb", "\ta", "a\t", "a\n\tb", "a ", " a", "key: |", "| a", "a\n#b\n", "a\n---\nb\n", "a\n\n\n", "   a\nb", "\n a", "a\n\n b\n", "a  b", "a   b",
}

// writeFamilies are values for the writer.
func writeFamilies(random int, seed int64) []any {
	var values []any
	strings_ := append(append([]string{}, awkward...), scalars...)
	for _, s := range strings_ {
		values = append(values, s, map[string]any{"a": s}, map[string]any{s: "a"}, []any{s}, map[string]any{"a": []any{s, s}}, []any{map[string]any{"a": s, "b": 1}}, []any{[]any{s}})
	}
	for _, s := range awkward {
		values = append(values, map[string]any{"a": "x" + s}, map[string]any{"a": s + "x"}, map[string]any{"a": "x" + s + "y", "b": "x" + s + "\n"}, map[string]any{s: map[string]any{s: []any{s}}},
			map[string]any{"a": strings.Repeat("word ", 17) + s + "x"}, map[string]any{"a": strings.Repeat("word ", 15) + s + " x y z and some more words"}, map[string]any{"k" + s: 1, s + "k": 2, "k": 3})
	}
	values = append(values, long()...)
	values = append(values, numbers()...)
	values = append(values, shapes()...)
	return append(values, randomValues(random, seed)...)
}

// long has texts with lengths around the line width, and keys around the longest simple key.
func long() []any {
	var values []any
	for length := 74; length <= 86; length++ {
		word, words := strings.Repeat("x", length), strings.Repeat("ab ", length/3)+strings.Repeat("c", length%3)
		for _, text := range []string{
			word, word + " y", word + " y z", word + "  y", word + "   y z", words + " y", words + " and more text that goes on", words + ": and # more", words + " it's", "'" + words + " y", "- " + words + " y z",
			"\t" + words + " y z", "\t" + words + "  y  z", words + " é " + words, strings.Repeat("é", length) + " y z", word + "\ny " + word + " z", words + " \"q\" " + words, word + " ", word + " \x01", "\x01" + word + " y  z ", strings.Repeat("😀 ", length/8) + "y z",
			": " + words + " " + words, ": " + word + "  " + word, "a\u2028" + words + " " + words,
		} {
			values = append(values, map[string]any{"a": text}, []any{map[string]any{"key": map[string]any{"nested": text}}})
		}
	}
	for _, length := range []int{79, 80, 81, 126, 127, 128, 129, 130, 200, 1000} {
		key := strings.Repeat("k", length)
		values = append(values, map[string]any{key: 1}, map[string]any{key: map[string]any{"a": 1}}, map[string]any{key: []any{1, 2}}, []any{map[string]any{key: "v"}}, map[string]any{strings.Repeat("é", length/2): 1},
			map[string]any{strings.Repeat("k ", length/2) + "x": 1}, map[string]any{": " + key: nil}, map[string]any{key: map[string]any{}}, map[string]any{key: []any{map[string]any{key: []any{key}}}}, map[string]any{key + "\n" + key: "a\nb\n"})
	}
	return values
}

// numbers are printed from their JSON text.
func numbers() []any {
	var values []any
	for _, text := range []string{
		"0", "1", "-1", "1.5", "-1.5", "1.0", "100000.0", "1000000.0", "1e5", "1e6", "1e8", "123456789.0", "1234567.5", "0.1", "0.0001", "0.00001", "1e-5", "1.5e-7", "1e20", "1e21", "1e22", "1e100", "1.7976931348623157e308", "5e-324",
		"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "0.30000000000000004", "1234567890.1234567",
		"9007199254740993", "9007199254740993.0", "3.0e2", "12e-1", "-1e8", "-0.00001", "0.0",
	} {
		values = append(values, json.Number(text), map[string]any{"a": json.Number(text)}, []any{json.Number(text)})
	}
	return values
}

// shapes nests maps and lists, and orders keys.
func shapes() []any {
	leaves := []any{nil, true, false, 1, "a", "", "a\nb\n", map[string]any{}, []any{}}
	level := leaves
	var values []any
	for range 3 {
		var next []any
		for index, leaf := range level {
			other := level[(index*7+3)%len(level)]
			next = append(next, map[string]any{"k": leaf, "l": other}, []any{leaf, other}, map[string]any{"k": []any{leaf}}, []any{[]any{leaf}, other})
		}
		values = append(values, level...)
		level = next
		if len(level) > 150 {
			level = level[:150]
		}
	}
	values = append(values, level...)
	for _, keys := range [][]string{
		{"a2", "a10", "a1", "a01", "a001", "a"}, {"b", "B", "a", "A", "_a", "-a", ".a", "1a", "10", "9", "09", "0"}, {"a-b", "a_b", "a.b", "ab", "aB", "a b", "a/b", "a1b", "a"}, {"é", "e", "z", "ü", "Z", "日本", "α", "β", "٣", "٢", "²"},
		{"v1", "v1beta1", "v1alpha1", "v2", "v10", "v1.2", "v1.10"}, {"1.10", "1.9", "1.2.3", "1.2.10", "1.2"}, {"100", "10", "1000", "1", "010", "0010", "20", "200"}, {"x10y", "x9y", "x10", "x9", "x1y0", "x1y"}, {"spec", "apiVersion", "kind", "metadata", "status", "data", "stringData"},
		{"app.kubernetes.io/name", "app.kubernetes.io/instance", "app", "app.kubernetes.io/part-of", "kubernetes.io/os"}, {"a99999999999999999999", "a1", "a9"}, {"a\u0301", "a", "ab", "á"}, {"yes", "no", "null", "1", "true", "~", ""}, {"ªb", "ªa", "ⅷ", "ⅶ", "a"}, {"😀", "😁", "a", "1", "!"}, {"1", "1.0", "1e0"}, {"foo-1-bar", "foo-10-bar", "foo-2-bar"},
	} {
		for _, left := range keys {
			for _, right := range keys {
				if left < right {
					values = append(values, map[string]any{left: 1, right: 2})
				}
			}
		}
		all := map[string]any{}
		for index, key := range keys {
			all[key] = index
		}
		values = append(values, all)
	}
	return values
}

// randomValues nests awkward texts at random.
func randomValues(count int, seed int64) []any {
	random := rand.New(rand.NewSource(seed))
	values := make([]any, 0, count)
	for range count {
		values = append(values, randomValue(random, 3))
	}
	return values
}

func randomValue(random *rand.Rand, depth int) any {
	choice := random.Intn(6)
	if depth == 0 || choice < 2 {
		var text strings.Builder
		for range 1 + random.Intn(5) {
			text.WriteString(awkward[random.Intn(len(awkward))])
			if random.Intn(3) == 0 {
				fmt.Fprintf(&text, "word %s", strings.Repeat("long ", random.Intn(24)))
			}
		}
		return text.String()
	}
	if choice < 4 {
		items := []any{}
		for range random.Intn(4) {
			items = append(items, randomValue(random, depth-1))
		}
		return items
	}
	entries := map[string]any{}
	for range random.Intn(4) {
		key, _ := randomValue(random, 0).(string)
		entries[key] = randomValue(random, depth-1)
	}
	return entries
}
