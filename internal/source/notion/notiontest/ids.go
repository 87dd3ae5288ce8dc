package notiontest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// uuidOf makes a UUID from what names it. Version and variant bits are those of a random one, as Notion's older ids have.
func uuidOf(seed uint64, name string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s", seed, name))
	sum[6] = sum[6]&0x0f | 0x40
	sum[8] = sum[8]&0x3f | 0x80
	return dashed(hex.EncodeToString(sum[:16]))
}

// dashed puts the dashes into 32 hex digits.
func dashed(digits string) string {
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

// compact takes the dashes out, as URLs bear ids.
func compact(id string) string { return strings.ReplaceAll(id, "-", "") }

// parseID takes an id in either spelling and in either case; false for anything that isn't a UUID.
func parseID(s string) (string, bool) {
	digits := strings.ToLower(compact(s))
	if len(digits) != 32 || (len(s) != 32 && len(s) != 36) {
		return "", false
	}
	if _, err := hex.DecodeString(digits); err != nil {
		return "", false
	}
	return dashed(digits), true
}
