"""Compare our constants of the standard ABI with its header.

Run by `under_mpiexec.rs`, without any rank started:

    python constants.py libthrough_mpi4py.so libmpi_abi.so.1 mpi_abi.h
"""

import ctypes
import re
import sys


def header_values(text):
    """Names and values of the header: enumerators and cast integers."""
    enumerators = re.findall(r"^\s*MPI_(\w+)\s*=\s*(-?\w+)\s*,?", text, re.M)
    handles = re.findall(r"#define\s+MPI_(\w+)\s+\(\([\w*]+\)(\w+)\)", text)
    return {name: int(value, 0) for name, value in enumerators + handles}


def status_bytes(text):
    """The size of MPI_Status, whose members are all ints."""
    body = re.search(r"typedef struct \{([^}]*)\}\s*MPI_Status;", text).group(1)
    lengths = re.findall(r"int\s+\w+(?:\[(\d+)\])?;", body)
    return 4 * sum(int(length or 1) for length in lengths)


def main():
    ours_path, library_path, header_path = sys.argv[1:]
    with open(header_path) as file:
        text = file.read()
    values = header_values(text) | {"Status": status_bytes(text)}
    ours = ctypes.CDLL(ours_path)
    ours.partita_mpi_constants.restype = ctypes.c_char_p
    answer = ours.partita_mpi_constants(library_path.encode()).decode()
    first, *rows = answer.splitlines()
    if not first.startswith("abi standard"):
        sys.exit(answer)
    wrong = []
    for _kind, name, value in map(str.split, rows):
        if values.get(name) != int(value):
            wrong.append(f"{name}: ours {value}, header {values.get(name)}")
    if wrong or len(rows) < 30:
        sys.exit("\n".join([f"{len(rows)} constants compared", *wrong]))
    print(f"mpi_abi.h: {len(rows)} constants equal")


main()
