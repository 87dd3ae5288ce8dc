package schema_test

import (
	"testing"

	"github.com/loresync/loresync/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }
