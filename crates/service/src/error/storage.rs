//! Failures of the disk, the database and the process's own limits: which they are decides what to do.

use callgate_store::StoreError;

use super::{ErrorCode, ServiceError};

pub(super) fn no_descriptors(text: String) -> ServiceError {
    let hint = "raise the limit on open files (`ulimit -n`, or LimitNOFILE= of the service), or see \
                what holds so many";
    ServiceError::new(ErrorCode::Storage, text, hint)
}

pub(super) fn storage(error: &StoreError) -> ServiceError {
    if error.is_out_of_descriptors() {
        return no_descriptors(error.to_string());
    }
    if error.is_damage() {
        let hint = "end the server, look at the disk, and restore the newest backup that `callgate \
                    verify` finds sound with `callgate restore`; `callgate doctor` lists what is damaged";
        return ServiceError::new(ErrorCode::Storage, error.to_string(), hint);
    }
    if error.is_full() {
        let hint = "nothing was stored: free space on the server's disk, then send it again";
        ServiceError::new(ErrorCode::StorageFull, error.to_string(), hint)
    } else {
        let hint = "check that the database of database.url runs and that the disk is not full";
        ServiceError::new(ErrorCode::Storage, error.to_string(), hint)
    }
}
