package approaches

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
)

// Source is the code of the designs, whose lines are counted.
//
//go:embed locks.go queue.go named.go
var Source embed.FS

// Lines counts the lines of some functions of a file that hold code: neither empty ones nor those of comments alone. A method is
// named with its type, as in Locks.Sync.
func Lines(files fs.FS, name string, functions ...string) (int, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return 0, fmt.Errorf("count lines: %w", err)
	}
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, text, parser.SkipObjectResolution)
	if err != nil {
		return 0, fmt.Errorf("count lines: %w", err)
	}
	lines := strings.Split(string(text), "\n")
	count, found := 0, 0
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || !slices.Contains(functions, functionName(function)) {
			continue
		}
		found++
		for _, line := range lines[positions.Position(function.Pos()).Line-1 : positions.Position(function.End()).Line] {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				count++
			}
		}
	}
	if found != len(functions) {
		return 0, fmt.Errorf("count lines: %s has %d of the functions %v", name, found, functions)
	}
	return count, nil
}

// functionName is the name of a function, or the type and name of a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	if named, ok := receiver.(*ast.Ident); ok {
		return named.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
