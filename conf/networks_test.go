package conf_test

import _ "kernbench/machine" // registers the networks that the keys of the tests name
