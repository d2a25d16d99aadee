package main

import "math/rand/v2"

// Pieces of ranges and versions. Small numbers, so that pairs meet; the odd ones are taken once in a while, so
// that refusals are met too.
var (
	numbers        = []string{"0", "0", "1", "1", "1", "2", "2", "3"}
	wildcards      = []string{"x", "X", "*"}
	oddNumbers     = []string{"10", "01", "1x", "1|2", "18446744073709551616", ""}
	prereleases    = []string{"0", "rc.1", "rc.1", "rc.2", "rc.10", "alpha", "alpha.beta", "-", "1-", "0a", "18446744073709551616"}
	oddPrereleases = []string{"01", "a..b", "", "a.", "a_b", "rc.00"}
	metadata       = []string{"m", "m.1", "01", "-"}
	oddMetadata    = []string{"", "a+b", "a..b", "m."}
	operators      = []string{"", "", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"}
	oddOperators   = []string{"==", "!", "^^", "=!", "<>", "-", "~=", "v"}
	separators     = []string{" ", ", ", ",", " , ", " || ", "||", " - ", "||  ", "\t"}
	oddSeparators  = []string{"-", "", "|", ",,", "\v", " |||", "  -  ", " -", "- ", ". ", "+"}
	endings        = []string{" ", ",", ".", "||", "-", "+", "v", " - "}
)

func randomPairs(seed uint64, count int) []pair {
	source := generator{rand.New(rand.NewPCG(seed, seed))}
	var pairs []pair
	for range count {
		rangeText, versionText := source.rangeText(), source.versionText(false)
		pairs = append(pairs, pair{rangeText, versionText, answer(rangeText, versionText)})
	}
	return pairs
}

type generator struct{ *rand.Rand }

// once in n calls.
func (g generator) once(n int) bool { return g.IntN(n) == 0 }

// pick takes a usual text, and once in 40 calls an odd one.
func (g generator) pick(usual, odd []string) string {
	if g.once(40) {
		return odd[g.IntN(len(odd))]
	}
	return usual[g.IntN(len(usual))]
}

func (g generator) rangeText() string {
	text := ""
	if g.once(12) {
		text = " "
	}
	for {
		// A hyphen range takes no operators, or all of them would be refused.
		if g.once(4) {
			text += g.versionText(true) + " - " + g.versionText(true)
		} else {
			text += g.pick(operators, oddOperators)
			if g.once(4) {
				text += " "
			}
			text += g.versionText(true)
		}
		if g.once(2) {
			break
		}
		text += g.pick(separators, oddSeparators)
	}
	if g.once(12) {
		text += endings[g.IntN(len(endings))]
	}
	return text
}

func (g generator) versionText(inRange bool) string {
	number := func() string {
		if inRange && g.once(6) {
			return wildcards[g.IntN(len(wildcards))]
		}
		return g.pick(numbers, oddNumbers)
	}
	text := number()
	if g.once(6) {
		text = "v" + text
	}
	for range g.IntN(3) {
		text += "." + number()
	}
	if g.once(40) {
		text += "." + number() + "." + number()
	}
	if g.once(4) {
		text += "-" + g.pick(prereleases, oddPrereleases)
	}
	if g.once(8) {
		text += "+" + g.pick(metadata, oddMetadata)
	}
	return text
}
