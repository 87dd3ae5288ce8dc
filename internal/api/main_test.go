package api_test

import (
	"context"
	"testing"

	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

func TestMain(m *testing.M) {
	testenv.SetMigrate(func(ctx context.Context, url string) error {
		_, err := schema.Migrate(ctx, url)
		return err
	})
	testenv.Main(m)
}
