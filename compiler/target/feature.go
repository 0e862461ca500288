package target

// Feature is something that a kernel can do and another cannot, by name.
type Feature string
