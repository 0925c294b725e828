//! Where an agent's settings are.

use std::env;
use std::path::{Path, PathBuf};

use super::host::{Home, Host};
use crate::agents::options::Scope;

impl Host {
    /// The file of the settings in this scope.
    pub(crate) fn settings(&self, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => self.users().join(self.file),
            Scope::Project => project().join(self.folder).join(self.file),
        }
    }

    /// The folder of its user's settings.
    pub(crate) fn users(&self) -> PathBuf {
        let named = |variable| env::var_os(variable).filter(|folder| !folder.is_empty());
        match self.home {
            Home::Folder(variable) => {
                named(variable).map_or_else(|| home().join(self.folder), PathBuf::from)
            }
            Home::Parent(variable) => {
                named(variable).map_or_else(home, PathBuf::from).join(self.folder)
            }
        }
    }
}

/// The user's folder.
fn home() -> PathBuf {
    env::home_dir().unwrap_or_else(|| "~".into())
}

/// The folder of the project: the nearest one with a repository, or else the current one.
fn project() -> PathBuf {
    let here = env::current_dir().unwrap_or_else(|_| ".".into());
    let root = here.ancestors().find(|folder| folder.join(".git").exists());
    root.map_or(here.clone(), Path::to_owned)
}
