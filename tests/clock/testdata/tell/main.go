// Command tell prints its clock, and then for how long a timer of a tenth of a second took by it.
package main

import (
	"context"
	"fmt"
	"time"
)

func main() {
	began := time.Now()
	fmt.Println(began.Unix())
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(100*time.Millisecond))
	defer cancel()
	<-ctx.Done()
	fmt.Println(time.Since(began).Milliseconds())
}
