// Package children keeps the processes of `dev` alive: workers and gateway, each a copy of the program itself under another
// argument. One that ends by itself is started again, and all of them end with their parent, however it ends.
package children
