package schema_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

// TestEveryStatementOfTheStoreFits lets Postgres plan each SQL constant of the store against the migrated schema: a table, view,
// function or column that isn't there is found without running anything.
func TestEveryStatementOfTheStoreFits(t *testing.T) {
	t.Parallel()
	url := testenv.EmptyDatabase(t)
	_, err := schema.Migrate(t.Context(), url)
	require.NoError(t, err)
	conn := connect(t, url)
	planned := 0
	for name, statement := range storeStatements(t) {
		_, err := conn.Prepare(t.Context(), name, statement)
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
			assert.NotContains(t, []string{"42P01", "42883", "42703", "42704"}, refused.Code, "%s: %s", name, refused.Message)
			continue // a part of a statement, which another constant completes
		}
		require.NoError(t, err, name)
		planned++
	}
	assert.Greater(t, planned, 60, "most constants are whole statements")
}

// sql begins like a statement.
var sql = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)

// storeStatements evaluates the string constants of the store that are SQL.
func storeStatements(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "internal", "store", "*.go"))
	require.NoError(t, err)
	values := map[string]ast.Expr{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
				for i, constant := range spec.Names {
					values[constant.Name] = spec.Values[i]
				}
			}
			return true
		})
	}
	statements := map[string]string{}
	for name, value := range values {
		if text, constant := evaluate(values, value); constant && sql.MatchString(text) {
			statements[name] = text
		}
	}
	return statements
}

// evaluate gives the value of a literal, of a constant, or of a sum of both.
func evaluate(values map[string]ast.Expr, value ast.Expr) (string, bool) {
	switch v := value.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(v.Value)
		return text, err == nil && v.Kind == token.STRING
	case *ast.Ident:
		named, known := values[v.Name]
		if !known {
			return "", false
		}
		return evaluate(values, named)
	case *ast.BinaryExpr:
		left, whole := evaluate(values, v.X)
		right, too := evaluate(values, v.Y)
		return left + right, whole && too
	}
	return "", false
}
