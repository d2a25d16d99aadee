package main

import "regexp"

// A row says for one pattern which values it matches from end to end, or that it is no pattern.
type row struct {
	Pattern string   `json:"pattern"`
	Invalid bool     `json:"invalid,omitempty"`
	Matches []string `json:"matches,omitempty"`
}

var patterns = []string{
	`https://github.com/org/.*`, `https://github\.com/org/.*`, `a`, `a|ab`, `ab|a`, `a|`, `.*`, `.+`, `\d+`, `[\d]+`, `[^\d]+`, `\D+`, `\w+`, `[\w-]+`, `\W+`,
	`\s+`, `\S+`, `a\b.*`, `\bé\b`, `.*\B.*`, `(?i)ORG`, `(?i)k`, `(?i:O)rg`, `(?m)^a$`, `(?s).*`, `(?U)a+`, `^a$`, `\Aa\z`, `(?P<name>a)`, `(?<name>a)`, `[[:alpha:]]+`,
	`[[:word:]]+`, `\pL+`, `\p{Greek}+`, `\P{L}+`, `\x61`, `\x{e9}`, `[a-c]+`, `[^a]`, `a{2}`, `a{2,}`, `a{1,2}`, `a{,2}`, `é`, `[é]`, `a.c`, `\.`, `[.]`, `a)|(.*`, `(`, `[`, `\`, `*`,
	`(?x)a #`, `(?x) a`, `[a&&b]+`, `[[a]b]+`, `[a--b]+`, `a++`, `(?=a)`, `\1`, `(?u)a`, `(?R)a`, `a**`, `\u0061`, `(?-u)a`, `a$b`, `\Qa.c\E`, `\pN+`, `(a{10}){10}`,
}

var values = []string{
	"", "a", "ab", "aa", "aaa", "abc", "a.c", "axc", "A", "org", "ORG", "Org", "oRG", "k", "K", "\u212a", "7", "42", "\u0663", "é", "É", "a\n", "\na", "a\nb", "\n", " ", "\u00a0", "\t", "\v",
	"a b", "a-b", "a_b", "α", "αβ", ".", "-", "&", "[a]b]", "a&b", "https://github.com/org/app", "https://github.com/org-evil/app", "https://github.com/org/", "https://githubXcom/org/app",
	"https://github.com/org/app\n", "xhttps://github.com/org/app", "a{,2}", "\u00bd",
}

func patternRows() object {
	rows := []row{}
	for _, pattern := range patterns {
		compiled, err := regexp.Compile(pattern)
		if err == nil {
			compiled = regexp.MustCompile(`\A(?:` + compiled.String() + `)\z`)
		}
		row := row{Pattern: pattern, Invalid: err != nil}
		for _, value := range values {
			if err == nil && compiled.MatchString(value) {
				row.Matches = append(row.Matches, value)
			}
		}
		rows = append(rows, row)
	}
	return object{"values": values, "rows": rows}
}
