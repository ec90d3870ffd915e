// Swift 6.3.1 copies `schedule` out of the accessor's memory, ends the accessor, which frees that memory, calls `sum()`,
// and then destroys the references of `schedule` through the freed memory: the program ends with a segmentation fault,
// with and without optimization. -Xfrontend -disable-large-loadable-types-reg2mem turns off the pass that does it.
@inline(never)
func sum(_ index: Int, of table: inout Table) -> Int { table[index].schedule.sum() }

var table = Table()
var total = 0
for number in 0..<100 { total += sum(number % 2, of: &table) }
print(total)
