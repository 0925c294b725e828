//! The mission: on a board it is logged by `defmt`, on anything else it is printed.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod board;

#[cfg(not(target_os = "none"))]
fn main() -> Result<(), unstuck_core::PolicyError<'static>> {
    use unstuck_firmware::{Ended, FLASH_SIZE, Flash, run};

    let mut memory = [0; FLASH_SIZE];
    while let Ended::Reset = run(Flash::over(&mut memory), &mut |entry| println!("{entry}"))? {}
    Ok(())
}
