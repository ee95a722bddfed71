//! The functions of MPI as one table of typed pointers.
//!
//! [`Table`] is generic over the handle's width; [`Calls`] hides which of its
//! two instances is loaded. Out-handles and arrays of handles are untyped
//! pointers (to a `Slot` or a `HandleArray` of the right width), so that only
//! handles passed by value differ between the instances.
//!
//! A method of the `active` and `large` groups refuses to run unless MPI is
//! initialised and not finalized, and turns MPI's code into a [`Result`]. The
//! `large` group is the `_c` functions of MPI 4.0, absent from older libraries.

use super::{
    Abi, ErrorClass, MpiError, Result,
    constants::MAX_STRING,
    fork,
    handle::{Handle, Native, Pass, Pointer},
    symbols::Symbols,
};
use std::{
    ffi::{c_char, c_int, c_void},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

/// What the argument type `H` of the table is to our own callers.
type H = Handle;
type Out = *mut c_void;
type Buf = *const c_void;
type Int = c_int;
type IntOut = *mut c_int;
type Text = *mut c_char;
type Count = i64;

macro_rules! mpi_table {
    (
        always { $($an:ident = $asym:literal ($($aarg:ident : $at:ty),*);)* }
        active { $($n:ident = $sym:literal ($($arg:ident : $t:ty),*);)* }
        large { $($ln:ident = $lsym:literal ($($larg:ident : $lt:ty),*);)* }
    ) => {
        /// Function pointers of a loaded MPI whose handles are `H`.
        pub(super) struct Table<H> {
            $($an: unsafe extern "C" fn($($at),*) -> c_int,)*
            $($n: unsafe extern "C" fn($($t),*) -> c_int,)*
            $($ln: Option<unsafe extern "C" fn($($lt),*) -> c_int>,)*
        }

        impl<H: Native> Table<H> {
            /// # Safety
            /// The symbols come from an MPI whose handles have the width of `H`.
            unsafe fn load(symbols: &Symbols) -> Result<Self> {
                // SAFETY: the types are those of the MPI standard for this width.
                unsafe {
                    Ok(Self {
                        $($an: symbols.function($asym)?,)*
                        $($n: symbols.function($sym)?,)*
                        $($ln: symbols.function($lsym).ok(),)*
                    })
                }
            }

            fn has_large_counts(&self) -> bool {
                true $(&& self.$ln.is_some())*
            }
        }

        #[allow(clippy::too_many_arguments, reason = "the signatures are MPI's")]
        impl Calls {
            $(pub(super) unsafe fn $an(&self $(, $aarg: $at)*) -> c_int {
                // SAFETY: the caller keeps the rules of this MPI function.
                unsafe {
                    match &self.table {
                        Width::Int(table) => (table.$an)($($aarg.pass()),*),
                        Width::Pointer(table) => (table.$an)($($aarg.pass()),*),
                    }
                }
            })*
            $(pub(super) unsafe fn $n(&self $(, $arg: $t)*) -> Result<()> {
                self.ready($sym)?;
                // SAFETY: MPI is active; the caller keeps the rules of the function.
                let code = unsafe {
                    match &self.table {
                        Width::Int(table) => (table.$n)($($arg.pass()),*),
                        Width::Pointer(table) => (table.$n)($($arg.pass()),*),
                    }
                };
                self.check($sym, code)
            })*
            $(pub(super) unsafe fn $ln(&self $(, $larg: $lt)*) -> Result<()> {
                self.ready($lsym)?;
                // SAFETY: MPI is active; the caller keeps the rules of the function.
                let code = unsafe {
                    match &self.table {
                        Width::Int(table) => table.$ln.map(|call| call($($larg.pass()),*)),
                        Width::Pointer(table) => table.$ln.map(|call| call($($larg.pass()),*)),
                    }
                };
                let missing = || MpiError::SymbolMissing { symbol: $lsym, path: self.path.clone() };
                self.check($lsym, code.ok_or_else(missing)?)
            })*
        }
    };
}

mpi_table! {
    always {
        initialized = "MPI_Initialized" (flag: IntOut);
        finalized = "MPI_Finalized" (flag: IntOut);
        init_thread = "MPI_Init_thread" (argc: IntOut, argv: Out, required: Int, provided: IntOut);
        error_string = "MPI_Error_string" (code: Int, text: Text, length: IntOut);
        error_class = "MPI_Error_class" (code: Int, class: IntOut);
        get_version = "MPI_Get_version" (major: IntOut, minor: IntOut);
        get_library_version = "MPI_Get_library_version" (text: Text, length: IntOut);
    }
    active {
        finalize = "MPI_Finalize" ();
        query_thread = "MPI_Query_thread" (provided: IntOut);
        get_processor_name = "MPI_Get_processor_name" (name: Text, length: IntOut);
        abort = "MPI_Abort" (comm: H, code: Int);
        comm_size = "MPI_Comm_size" (comm: H, size: IntOut);
        comm_rank = "MPI_Comm_rank" (comm: H, rank: IntOut);
        comm_test_inter = "MPI_Comm_test_inter" (comm: H, flag: IntOut);
        comm_dup = "MPI_Comm_dup" (comm: H, new: Out);
        comm_free = "MPI_Comm_free" (comm: Out);
        comm_get_attr = "MPI_Comm_get_attr" (comm: H, key: Int, value: Out, flag: IntOut);
        comm_set_errhandler = "MPI_Comm_set_errhandler" (comm: H, handler: H);
        isend = "MPI_Isend" (buf: Buf, count: Int, datatype: H, dest: Int, tag: Int, comm: H, request: Out);
        irecv = "MPI_Irecv" (buf: Out, count: Int, datatype: H, source: Int, tag: Int, comm: H, request: Out);
        improbe = "MPI_Improbe" (source: Int, tag: Int, comm: H, flag: IntOut, message: Out, status: Out);
        mrecv = "MPI_Mrecv" (buf: Out, count: Int, datatype: H, message: Out, status: Out);
        test = "MPI_Test" (request: Out, flag: IntOut, status: Out);
        testall = "MPI_Testall" (n: Int, requests: Out, flag: IntOut, statuses: Out);
        cancel = "MPI_Cancel" (request: Out);
        test_cancelled = "MPI_Test_cancelled" (status: Buf, flag: IntOut);
        request_free = "MPI_Request_free" (request: Out);
        get_elements_x = "MPI_Get_elements_x" (status: Buf, datatype: H, count: *mut i64);
        barrier = "MPI_Barrier" (comm: H);
        allgather = "MPI_Allgather" (send: Buf, n_send: Int, sent: H, recv: Out, n_recv: Int, received: H, comm: H);
    }
    large {
        isend_c = "MPI_Isend_c" (buf: Buf, count: Count, datatype: H, dest: Int, tag: Int, comm: H, request: Out);
        irecv_c = "MPI_Irecv_c" (buf: Out, count: Count, datatype: H, source: Int, tag: Int, comm: H, request: Out);
        mrecv_c = "MPI_Mrecv_c" (buf: Out, count: Count, datatype: H, message: Out, status: Out);
        allgather_c = "MPI_Allgather_c" (send: Buf, n_send: Count, sent: H, recv: Out, n_recv: Count, received: H, comm: H);
    }
}

enum Width {
    Int(Table<c_int>),
    Pointer(Table<Pointer>),
}

/// The loaded functions, whatever the width of their handles.
pub(super) struct Calls {
    table: Width,
    abi: Abi,
    path: PathBuf,
    seen_initialized: AtomicBool,
}

impl Calls {
    /// # Safety
    /// The symbols come from an MPI library with this ABI.
    pub(super) unsafe fn load(symbols: &Symbols, abi: Abi) -> Result<Self> {
        // SAFETY: the width belongs to the ABI, which the caller vouches for.
        let table = unsafe {
            match abi {
                Abi::Mpich => Width::Int(Table::load(symbols)?),
                Abi::OpenMpi | Abi::Standard => Width::Pointer(Table::load(symbols)?),
            }
        };
        let path = symbols.path().to_owned();
        Ok(Self { table, abi, path, seen_initialized: AtomicBool::new(false) })
    }

    pub(super) fn has_large_counts(&self) -> bool {
        match &self.table {
            Width::Int(table) => table.has_large_counts(),
            Width::Pointer(table) => table.has_large_counts(),
        }
    }

    pub(super) fn is_initialized(&self) -> bool {
        if self.seen_initialized.load(Ordering::Relaxed) {
            return true;
        }
        let mut flag = 0;
        // SAFETY: allowed at any time; `flag` is a live int.
        unsafe { self.initialized(&mut flag) };
        self.seen_initialized.store(flag != 0, Ordering::Relaxed);
        if flag != 0 {
            fork::mpi_runs();
        }
        flag != 0
    }

    /// Asked before every call: others (mpi4py at exit) may finalize MPI too.
    pub(super) fn is_finalized(&self) -> bool {
        let mut flag = 0;
        // SAFETY: allowed at any time; `flag` is a live int.
        unsafe { self.finalized(&mut flag) };
        flag != 0
    }

    pub(super) fn is_active(&self) -> bool {
        self.is_initialized() && !fork::is_child_of_a_rank() && !self.is_finalized()
    }

    fn ready(&self, call: &'static str) -> Result<()> {
        if !self.is_initialized() {
            return Err(MpiError::NotInitialized { call });
        }
        if fork::is_child_of_a_rank() {
            return Err(MpiError::Forked { call });
        }
        if self.is_finalized() {
            return Err(MpiError::Finalized { call });
        }
        Ok(())
    }

    /// Turns the code a function returned into an error with MPI's own text.
    pub(super) fn check(&self, call: &'static str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        Err(MpiError::Call { call, class: self.class(code), code, text: self.text(code) })
    }

    pub(super) fn class(&self, code: c_int) -> ErrorClass {
        let mut number = code;
        // SAFETY: `number` is a live int.
        unsafe { self.error_class(code, &mut number) };
        ErrorClass::from_number(self.abi, number)
    }

    fn text(&self, code: c_int) -> String {
        // SAFETY: `read_text` gives room for the longest string of any ABI.
        read_text(|text, length| unsafe { self.error_string(code, text, length) })
    }
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("abi", &self.abi).field("path", &self.path).finish()
    }
}

/// Reads a string that MPI writes into a buffer together with its length.
pub(super) fn read_text(write: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> String {
    let mut buffer = vec![0u8; MAX_STRING];
    let mut length = 0;
    write(buffer.as_mut_ptr().cast(), &mut length);
    buffer.truncate(usize::try_from(length).unwrap_or(0));
    String::from_utf8_lossy(&buffer).trim_end_matches(['\0', '\n', ' ']).to_owned()
}
