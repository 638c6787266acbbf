"""A paged KV cache in the emulator's memory: the pages of the sequences lie shuffled among pages of other people's numbers."""
import numpy as np


class PagedCache:
    def __init__(self, memory, dtype, lengths, k, v, page_rows):
        rng = np.random.default_rng(11)
        pages = [-(-length // page_rows) for length in lengths]
        order = iter(rng.permutation(sum(pages) + 3))
        shape = (sum(pages) + 3, page_rows, *k.shape[1:])
        self.page_stride, self.row_stride = int(np.prod(shape[1:])), int(np.prod(shape[2:]))
        self.table_stride = max(1, *pages)
        cache = [dtype.encode(100 * rng.normal(size=shape)) for _ in range(2)]
        table = np.full((len(lengths), self.table_stride), -1, np.int32)
        first = 0
        for sequence, length in enumerate(lengths):
            for page in range(pages[sequence]):
                table[sequence, page] = place = next(order)
                rows = slice(first + page * page_rows, first + min(length, (page + 1) * page_rows))
                for pool, tensor in zip(cache, (k, v)):
                    pool[place, :rows.stop - rows.start] = tensor[rows]
            first += length
        self.k, self.v, self.table = (memory.put(a) for a in (*cache, table))
        self.lengths = memory.put(np.array(lengths, np.int32))
