package main

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed sample
var sampleFiles embed.FS

// sample is the handbook without the folder that it lies in.
func sample() (fs.FS, error) {
	files, err := fs.Sub(sampleFiles, "sample")
	if err != nil {
		return nil, fmt.Errorf("open the sample: %w", err)
	}
	return files, nil
}
