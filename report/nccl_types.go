package report

// ncclTypes are the names by which nccl-tests prints element types.
var ncclTypes = map[string]string{
	"f16": "half", "bf16": "bfloat16", "f32": "float", "f64": "double",
	"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
}

// ncclType returns the name that nccl-tests has for an element type. NCCL has no int16; its name
// here follows the other names.
func ncclType(name string) string {
	if theirs, ok := ncclTypes[name]; ok {
		return theirs
	}
	return name
}
