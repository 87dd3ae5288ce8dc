package corpus

import (
	"math/rand/v2"
	"strings"
)

// The vocabulary is every prefix before every root before every suffix: 8,000 words that look and stem like English, so
// that indexes, stems and hashes are as varied as those of real pages.
var (
	prefixes = strings.Split(",re,pre,over,under,co,inter,sub,un,out", ",")
	roots    = strings.Fields(`plan form act port mark build test view load sign turn work hand light ground field
		stand hold draft rate charge count press train break cast claim clear code cover cross cut deal deliver direct
		draw drive edit fill fold frame guard guide head house issue judge key land lead line link list lock match
		measure model order pack page part pass pay place point post print process read record rest route rule run
		seal ship stage start state step stock store tax`)
	suffixes = strings.Split(",ing,er,ed,able,ment,ness,ship,less,ward", ",")
	small    = strings.Fields(`the a of to in for on with and or by from at as is are was will can may must not this that
		these its their our your each every any all when where while before after until because which who than then
		also only still never always`)
)

const (
	// The word frequencies follow Zipf's law, as those of real texts do, flattened at the top.
	zipfExponent = 1.07
	zipfOffset   = 8
	// wordStride is prime, so that neighbours by frequency share neither root nor affix.
	wordStride = 3571
)

// writer makes text from one stream of random numbers.
type writer struct {
	random *rand.Rand
	zipf   *rand.Zipf
}

func newWriter(seed, stream uint64) *writer {
	random := rand.New(rand.NewPCG(seed, stream))
	return &writer{random: random, zipf: rand.NewZipf(random, zipfExponent, zipfOffset, vocabulary()-1)}
}

func vocabulary() uint64 { return uint64(len(prefixes) * len(roots) * len(suffixes)) }

func (w *writer) word() string {
	at := int(w.zipf.Uint64() * wordStride % vocabulary())
	prefix, rest := at%len(prefixes), at/len(prefixes)
	return prefixes[prefix] + roots[rest%len(roots)] + suffixes[rest/len(roots)]
}

// words gives n words without function words: a title, a heading or a cell.
func (w *writer) words(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = w.word()
	}
	return capital(strings.Join(list, " "))
}

// sentence gives 7 to 20 words, half of them function words.
func (w *writer) sentence() string {
	list := make([]string, 7+w.random.IntN(14))
	for i := range list {
		switch {
		case w.random.IntN(2) == 0:
			list[i] = small[w.random.IntN(len(small))]
		default:
			list[i] = w.word()
		}
		if i > 2 && i < len(list)-2 && w.random.IntN(9) == 0 {
			list[i] += ","
		}
	}
	return capital(strings.Join(list, " ")) + "."
}

func (w *writer) paragraph() string {
	list := make([]string, 2+w.random.IntN(4))
	for i := range list {
		list[i] = w.sentence()
	}
	return strings.Join(list, " ")
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
